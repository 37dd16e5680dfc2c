"""What households and third parties ask of an auditor: take what they hold, judge a message, give its report (10.5)."""

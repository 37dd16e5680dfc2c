"""What others embed: a household's device, a third party's subscriber."""

"""The figures of 002 chapters 3 and 4, and what the study adds to them; each as PNG and SVG."""

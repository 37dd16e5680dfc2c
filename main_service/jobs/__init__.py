"""What worker 0 runs beside the request path: classifying what was answered, releasing groups, keeping time.

Each job repeats until nothing is left to do, so whatever a crash interrupts is taken up again from the store. The jobs
share nothing but that.
"""

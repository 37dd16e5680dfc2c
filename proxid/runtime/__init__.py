"""What a running party needs: transport, stores, evidence logs, configuration, keys, processes, metrics.

It imports the library, never a party and never the laboratory.
"""

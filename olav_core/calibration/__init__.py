"""Calibration: distance scale and gate thresholds measured on the rows and questions of one store."""

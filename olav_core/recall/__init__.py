"""Recall: query to legs, fusion, boosts, gates, selection and the block."""

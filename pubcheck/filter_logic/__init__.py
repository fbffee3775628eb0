"""Row filters as logic: which rows they are true for, decided for all rows at once or left open.

A question is answered by a proof that no row exists, by a row that the evaluator confirmed, or not at all.
"""

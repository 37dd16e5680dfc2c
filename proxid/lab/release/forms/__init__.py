"""Forms of a streaming release on a file (DESIGN 8.11): what stands beside what.

`pairs` is the method `kbuffer` itself: a name and a content in one record. `rounds` the form `split` on columns ·
`split` its files · `budgeted` its contents with noise · `cohort` pairs in fixed cohorts, for ever 1/n
"""

"""Who asked what, from people's profiles learnt out of the release itself (docs/anonymity.md).

`blocks` people and contents published together · `chains` what a content says, from coarse to fine · `kernels` owners
of one block by exact permanents or by scaling · `learn` expectation-maximisation over all blocks · `score` how often it
was right · `attack` as `proxid attack` calls it
"""

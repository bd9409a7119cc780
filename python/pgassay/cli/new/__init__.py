"""`pgassay new`: writes a commented experiment file by a few questions, or by flags."""

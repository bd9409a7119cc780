"""What does a run say of each query of a set?"""

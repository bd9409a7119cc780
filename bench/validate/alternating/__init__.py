"""Worlds in which every trial has all arms: switchbacks and duets."""

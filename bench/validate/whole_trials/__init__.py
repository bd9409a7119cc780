"""Worlds in which every trial has one arm: one server, several servers, and runs made apart."""

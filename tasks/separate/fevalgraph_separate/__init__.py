"""Runs the modules of a submission in a process of their own.

A grader that imports a module of the submission gets a stand-in, which calls fill. That starts
one process for all modules of the submission, in which they are loaded, and every access to a
module is a message to it: grader.py is the grader's half, process.py the submission's, confine.py
keeps that process from the grader's files, and values.py has the messages.
"""

before= run=0 longest=0

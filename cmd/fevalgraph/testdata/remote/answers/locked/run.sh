chmod 700 locked && chmod 600 locked/score && cat locked/score

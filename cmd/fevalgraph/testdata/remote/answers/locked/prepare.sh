mkdir locked && echo 40 >locked/score && chmod 000 locked/score locked

echo 44 >pipe & cat pipe

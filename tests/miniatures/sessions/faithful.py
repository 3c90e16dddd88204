# Keeps everything: the one among these that must pass.
from serving import Server

Server().serve()

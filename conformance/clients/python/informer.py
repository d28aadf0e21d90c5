"""A cache of the ConfigMaps of one namespace, with the loop that kubernetes-client/python documents: list, then watch from there.

    informer.py URL NAMESPACE RESTART

Commands and answers are those of ../node/informer.js. RESTART is the pause after an error, in milliseconds. The package has no informer.
"""
import json
import sys
import threading
import time

from kubernetes import client, watch

server, namespace, restart = sys.argv[1:]
api = client.CoreV1Api(client.ApiClient(client.Configuration(host=server)))
objects, errors = {}, []
seen = {"add": 0, "update": 0, "delete": 0, "connect": 0}
lock = threading.Lock()


def put(obj):
    name = obj.metadata.name
    seen["update" if name in objects else "add"] += 1
    objects[name] = {"version": obj.metadata.resource_version, "value": (obj.data or {}).get("value", "")}


def list_and_watch():
    seen["connect"] += 1
    found = api.list_namespaced_config_map(namespace)
    with lock:
        objects.clear()
        for obj in found.items:
            put(obj)
    stream = watch.Watch().stream(api.list_namespaced_config_map, namespace, resource_version=found.metadata.resource_version)
    for event in stream:
        with lock:
            if event["type"] == "DELETED":
                seen["delete"] += 1
                objects.pop(event["object"].metadata.name, None)
            elif event["type"] in ("ADDED", "MODIFIED"):
                put(event["object"])


def run():
    while True:
        try:
            list_and_watch()
        except Exception as err:  # as documented: whatever fails, begin again with a list
            errors.append(repr(err)[:300])
        time.sleep(int(restart) / 1000)


for line in sys.stdin:
    if line.strip() == "start":
        threading.Thread(target=run, daemon=True).start()
    elif line.strip() == "state":
        with lock:
            print(json.dumps({"objects": objects, "seen": seen, "errors": errors}), flush=True)

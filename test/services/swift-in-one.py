"""Swift's four servers in one process: an S3 service that is up in seconds. The argument is an empty directory; the
port of the S3 service is printed when it takes connections."""
import eventlet
eventlet.patcher.monkey_patch()
import os
import pwd
import sys
from eventlet import wsgi
from swift.common import utils
from swift.common.ring import RingBuilder
from swift.common.wsgi import loadapp

directory = sys.argv[1]
kinds = ["account", "container", "object"]
pipeline = ("catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth copy dlo slo proxy-server")
options = {
    "s3api": "s3_acl = false\nlocation = us-east-1\ndns_compliant_bucket_names = no",
    "tempauth": "user_test_tester = testing .admin",
    "cache": "memcache_servers = 127.0.0.1:1",
}


def write(name, text):
    path = os.path.join(directory, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def config(name, stages, app):
    """Paste's description of a server; nothing runs as another user or in another process."""
    filters = "".join(
        "[filter:%s]\nuse = egg:swift#%s\n%s\n" % (one, {"cache": "memcache"}.get(one, one), options.get(one, ""))
        for one in stages.split()[:-1])
    return write(name + ".conf", """[DEFAULT]
user = %s
swift_dir = %s
devices = %s
mount_check = false
disable_fallocate = true
fallocate_reserve = 0
log_level = CRITICAL
[pipeline:main]
pipeline = %s
%s[app:%s]
use = egg:swift#%s
account_autocreate = true
""" % (pwd.getpwuid(os.getuid()).pw_name, directory, os.path.join(directory, "disks"), stages, filters,
        stages.split()[-1], app))


os.makedirs(os.path.join(directory, "disks", "d1"))
write("swift.conf", "[swift-hash]\nswift_hash_path_suffix = millrace\nswift_hash_path_prefix = test\n"
      "[storage-policy:0]\nname = one\ndefault = yes\n")
utils.SWIFT_CONF_FILE = os.path.join(directory, "swift.conf")
utils.validate_hash_conf()
from swift.common import storage_policy
storage_policy.reload_storage_policies()

sockets = {kind: eventlet.listen(("127.0.0.1", 0)) for kind in kinds + ["proxy"]}
for kind in kinds:
    builder = RingBuilder(4, 1, 0)
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "weight": 1.0, "ip": "127.0.0.1", "device": "d1", "meta": "",
                     "port": sockets[kind].getsockname()[1], "replication_ip": "127.0.0.1",
                     "replication_port": sockets[kind].getsockname()[1]})
    builder.rebalance()
    builder.get_ring().save(os.path.join(directory, kind + ".ring.gz"))
for kind in kinds:
    app = loadapp(config(kind, kind + "-server", kind))
    eventlet.spawn(wsgi.server, sockets[kind], app, log_output=False)
proxy = loadapp(config("proxy", pipeline, "proxy"))
print("port %d" % sockets["proxy"].getsockname()[1], flush=True)
wsgi.server(sockets["proxy"], proxy, log_output=False)

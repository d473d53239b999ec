"""Forty guides with a question each, and twenty question-to-SQL pairs about the same things."""

# ruff: noqa: E501 (a table)

from __future__ import annotations

#: (intent, keywords, body, the question that it answers)
GUIDES: list[tuple[str, list[str], str, str]] = [
    (
        "register_service",
        ["register", "service"],
        "Register every new service with register_service; name it <team>-<app>-<env> and give its owner.",
        "What is the convention for registering a new service?",
    ),
    (
        "take_snapshot",
        ["snapshot"],
        "Take a snapshot of the device before any change, and keep it for 30 days.",
        "Do I need a snapshot before I change a device?",
    ),
    (
        "bgp_idle",
        ["bgp", "idle"],
        "For a BGP neighbour in Idle: check reachability, then TCP port 179, then the AS numbers, before clearing the session.",
        "The BGP neighbour stays in Idle, how do I proceed?",
    ),
    (
        "ospf_exstart",
        ["ospf", "exstart"],
        "OSPF stuck in ExStart is nearly always an MTU mismatch: compare the MTU on both ends first.",
        "Why is OSPF stuck in ExStart?",
    ),
    (
        "vlan_numbers",
        ["vlan"],
        "VLAN 100-199 are for users, 200-299 for servers, 900 and above for management; never reuse a retired number.",
        "Which VLAN numbers may I use for servers?",
    ),
    (
        "interface_description",
        ["interface", "description"],
        "Write interface descriptions as peer:port:circuit, in capitals, and update them with each move.",
        "How should an interface description be written?",
    ),
    (
        "export_report",
        ["report", "export"],
        "Export reports as Markdown with a summary of three lines, tables after it, and raw data as an attachment.",
        "In which form do I export a report?",
    ),
    (
        "destructive_action",
        ["delete", "destructive"],
        "Before deleting or wiping anything, show exactly what will go and wait for an explicit yes.",
        "The user wants me to delete all old configs, what first?",
    ),
    (
        "inline_secrets",
        ["secret", "token"],
        "Never write a token or password into a command; read it from the vault at run time.",
        "Where do I get the API token for this script from?",
    ),
    (
        "change_window",
        ["change", "window"],
        "Changes to production run Tuesday and Thursday, 22:00 to 02:00, with an approved ticket.",
        "When may I change production?",
    ),
    (
        "oncall_handover",
        ["handover", "on call"],
        "Hand over on-call with the open incidents, the muted alarms and the pending changes, in that order.",
        "What belongs into the on-call handover?",
    ),
    (
        "dns_records",
        ["dns"],
        "Add DNS records through the zone repository, TTL 300 for new ones, never by hand on the server.",
        "How do I add a DNS record?",
    ),
    (
        "certificate_renewal",
        ["certificate", "tls"],
        "Renew certificates 21 days before they expire, with the ACME role; restart only the proxy.",
        "A TLS certificate is about to expire, how do I renew it?",
    ),
    (
        "grafana_datasource",
        ["grafana", "datasource"],
        "Wire a Grafana datasource with provisioning files; the name equals the InfluxDB bucket.",
        "How is a new Grafana datasource set up?",
    ),
    (
        "syslog_retention",
        ["syslog"],
        "Keep syslog 90 days hot and one year in the archive; debug levels only for 7 days.",
        "For how long do we keep syslog?",
    ),
    (
        "alert_silence",
        ["silence", "alert"],
        "Silence an alert for two hours at most, and write the ticket into the comment.",
        "May I silence this alert over the weekend?",
    ),
    (
        "ip_plan",
        ["ip plan", "prefix"],
        "Take addresses only from the IP plan, smallest free prefix first, and book them before use.",
        "Where do I take a new prefix from?",
    ),
    (
        "rollback",
        ["rollback"],
        "Roll back with the last snapshot, not by hand-written reverse commands; verify with a diff.",
        "The change went wrong, how do I roll back?",
    ),
    (
        "capacity_alarm",
        ["capacity", "utilisation"],
        "Raise a capacity ticket when a link is above 70 percent for an hour on three days.",
        "From which load on do I open a capacity ticket?",
    ),
    (
        "config_backup",
        ["backup"],
        "Back up configurations nightly to the git server and alert when a device misses two nights.",
        "How are device configurations backed up?",
    ),
    (
        "快照规范",
        ["快照"],
        "修改任何设备之前先做快照，快照保存三十天，命名为设备名加日期。",
        "修改设备前要不要做快照？",
    ),
    (
        "审批流程",
        ["审批"],
        "生产环境的变更必须先提交工单，经过网络负责人和业务负责人两级审批才能执行。",
        "生产变更的审批流程是怎样的？",
    ),
    (
        "环境变量",
        ["环境变量"],
        "密钥只能通过环境变量或密码库读取，不允许写进脚本。",
        "脚本里的密钥应该放在哪里？",
    ),
    (
        "接口状态",
        ["接口"],
        "检查接口状态时先看物理层，再看链路层，最后看协议。",
        "接口状态异常时按什么顺序检查？",
    ),
    (
        "告警升级",
        ["告警", "升级"],
        "严重告警十五分钟内无人响应就升级给值班经理。",
        "严重告警无人响应，什么时候升级给值班经理？",
    ),
    (
        "光模块更换",
        ["光模块"],
        "更换光模块之前先记录收发光功率，更换之后再比较一次。",
        "换光模块要注意什么？",
    ),
    ("堡垒机登录", ["堡垒机"], "所有设备只能通过堡垒机登录，会话全程录像。", "怎样登录核心设备？"),
    (
        "防火墙策略",
        ["防火墙"],
        "新增防火墙策略要写明来源、目的、端口和有效期，默认三个月到期。",
        "申请防火墙策略要填哪些内容？",
    ),
    ("机房温度", ["机房", "温度"], "机房温度超过二十八度要立即通知动环值班。", "机房温度太高了通知谁？"),
    (
        "无线漫游",
        ["无线", "漫游"],
        "无线漫游慢时先检查信道重叠，再检查认证服务器的延迟。",
        "无线漫游很慢怎么排查？",
    ),
    (
        "qos_marking",
        ["qos", "dscp"],
        "Voice is marked EF, video AF41, everything else default; remark at the access port.",
        "Which DSCP value does voice get?",
    ),
    (
        "ntp_source",
        ["ntp"],
        "Use the two internal stratum 2 servers for NTP; public servers are not allowed.",
        "Which NTP servers do the switches use?",
    ),
    (
        "firmware_upgrade",
        ["firmware", "upgrade"],
        "Upgrade firmware in the lab first, then one site, then the rest after a week.",
        "In what order do we roll out new firmware?",
    ),
    (
        "spanning_tree",
        ["spanning tree", "root"],
        "The distribution switches are spanning-tree roots: priority 4096 and 8192; access ports get BPDU guard.",
        "Which switch is the spanning tree root?",
    ),
    (
        "snmp_v3",
        ["snmp"],
        "Monitor with SNMPv3 authPriv only; remove v2c communities when you see them.",
        "Is SNMP v2c still allowed for monitoring, or only SNMPv3?",
    ),
    (
        "cable_labels",
        ["cable", "label"],
        "Label both ends of a cable with rack, unit and port; yellow is for management.",
        "How are cables labelled?",
    ),
    (
        "incident_summary",
        ["incident", "postmortem"],
        "Write an incident summary within two days: timeline, cause, what we change; no blame.",
        "What do I write after an incident?",
    ),
    (
        "vpn_access",
        ["vpn"],
        "VPN accounts are given for 90 days, with hardware tokens, by the service desk only.",
        "A contractor needs VPN access, who grants it?",
    ),
    (
        "load_balancer_drain",
        ["drain", "load balancer"],
        "Drain a load balancer member for ten minutes before you stop its service.",
        "I need to stop a server behind the load balancer, how?",
    ),
    (
        "schema_lookup",
        ["describe", "schema"],
        "Before writing SQL call describe_table; never guess column names.",
        "How do I find out the columns of a table before I query it?",
    ),
]

#: (question, SQL)
PATTERNS: list[tuple[str, str]] = [
    (
        "How many devices have no snapshot in 30 days?",
        "select count(*) from devices where snapshot_at < now() - interval 30 day",
    ),
    ("Which BGP neighbours are idle?", "select neighbour from bgp where state = 'Idle'"),
    ("Which OSPF neighbours are in ExStart?", "select neighbour from ospf where state = 'ExStart'"),
    ("List the VLANs of the servers", "select vlan from vlans where role = 'server'"),
    ("Which interfaces have no description?", "select name from interfaces where description is null"),
    (
        "Which certificates expire this month?",
        "select name from certificates where expires_at < now() + interval 30 day",
    ),
    ("How many syslog lines came per hour?", "select hour, count(*) from syslog group by hour"),
    ("Which alarms are muted?", "select id from alarms where silenced"),
    ("Which prefixes are free?", "select prefix from ip_plan where not used"),
    ("Which links are above 70 percent?", "select link from traffic where load > 0.7"),
    ("Which devices missed the backup?", "select device from backups where ok = false"),
    ("哪些设备三十天没有做快照？", "select device from snapshots where taken_at < now() - interval 30 day"),
    ("哪些变更还没有审批？", "select id from changes where approved_at is null"),
    ("哪些接口状态是关闭的？", "select name from interfaces where state = 'down'"),
    ("哪些告警没有人处理？", "select id from alarms where owner is null"),
    ("哪些防火墙策略已经到期？", "select id from policies where expires_at < now()"),
    ("机房的平均温度是多少？", "select avg(celsius) from sensors"),
    ("Which switches run old firmware?", "select device from firmware where version < '17.9'"),
    ("Which devices still have SNMP v2c communities?", "select device from snmp where version = '2c'"),
    ("Who has VPN access?", "select account from vpn where active"),
]

#: Questions in other words than the guide's, each nearer to a pattern: (intent, question).
HARD: list[tuple[str, str]] = [
    ("alert_silence", "May I mute this alarm over the weekend?"),
    ("rollback", "The change went wrong, how do I go back?"),
    ("告警升级", "严重告警没人处理怎么办？"),
    ("snmp_v3", "May I poll this device with an SNMP v2c community?"),
]

"""Pairs of sentences of guides with one trigger: do they contradict?"""

from __future__ import annotations

CLASH = [
    ("Always restart the collector after an upgrade.", "Never restart the collector after an upgrade."),
    ("Pass the token by its environment variable.", "Do not pass the token by its environment variable."),
    ("Enable spanning tree on access ports.", "Disable spanning tree on access ports."),
    ("Allow SSH from the management network.", "SSH from the management network is denied."),
    ("Take a backup before the change window.", "Take a backup after the change window."),
    ("Keep syslog messages for 30 days.", "Keep syslog messages for 90 days."),
    ("Set the MTU of the uplink to 9000.", "Set the MTU of the uplink to 1500."),
    ("Ask for approval of changes to the core.", "Don't ask for approval of changes to the core."),
    ("Name interfaces in uppercase letters.", "Name interfaces in lowercase letters."),
    ("删除接口前必须先备份配置。", "删除接口前不要备份配置。"),
    ("接入端口启用生成树。", "接入端口禁用生成树。"),
    ("允许管理网段的 SSH 登录。", "拒绝管理网段的 SSH 登录。"),
    ("日志保留 30 天。", "日志保留 90 天。"),
    ("变更窗口之前做好备份。", "变更窗口之后做好备份。"),
    ("严禁在白天重启核心交换机。", "在白天重启核心交换机。"),
    ("VLAN 名称用大写字母。", "VLAN 名称用小写字母。"),
]  # fmt: skip
AGREE = [
    ("Never restart a collector whose queue is full.", "Do not restart it until its queue is empty."),
    ("Keep syslog messages for 30 days.", "Keep configuration backups for 90 days."),
    ("Enable spanning tree on access ports.", "Disable unused access ports."),
    ("Name a service {kind}_{site} in lower case.", "Register the service with its health check."),
    ("Do not answer from stale rows.", "Refresh the rows with take_snapshot."),
    ("Look at the interface first.", "Look at the routing table after that."),
    ("Set the MTU of the uplink to 9000.", "Set the description of the uplink."),
    ("Allow SSH from the management network.", "Deny telnet from everywhere."),
    ("Ask which site it is for.", "Do not guess the VLAN id."),
    ("Wait 5 minutes before the second try.", "Wait 5 minutes before the second attempt, then report."),
    ("删除接口前必须先备份配置。", "不要删除还有地址的接口。"),
    ("日志保留 30 天。", "备份保留 90 天。"),
    ("先查接口状态，再查路由。", "不要一开始就查 BGP 属性。"),
    ("允许管理网段的 SSH 登录。", "拒绝所有 Telnet 登录。"),
    ("每个站点分配一个 VLAN。", "VLAN 编号不要超过 4000。"),
    ("变更窗口之前做好备份。", "变更之后检查邻居状态。"),
]  # fmt: skip

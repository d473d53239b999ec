"""Reference files of a network team, and queries: which file each means, None when it means none."""

from __future__ import annotations

FILES = {
    "ROUTING_EXPERT_GUIDE.md": (
        "# BGP path selection in depth\n\nHow to work out why a router prefers a path: weight, local "
        "preference, AS path length, origin, MED, eBGP over iBGP, IGP metric to the next hop.\n\n"
        "## Route reflectors\n\nCluster ids, originator ids, and how loops are avoided.\n"
    ),
    "mermaid_syntax.md": (
        "# Mermaid syntax for topologies\n\nHow to write a topology as a diagram: graph TD, nodes, links, "
        "subgraphs per site, colours for links that are down.\n"
    ),
    "snapshot_pipeline.md": (
        "# The snapshot pipeline\n\nHow device output is collected, parsed and loaded into the database, "
        "and what each stage does when a device does not answer.\n"
    ),
    "acl_audit_rules.md": (
        "# Audit rules for access lists\n\nWhich entries are too wide, shadowed or never hit; the evidence "
        "that an audit finding needs.\n"
    ),
    "capacity_model.md": (
        "# Capacity model\n\nThe formula that forecasts the utilisation of a link from its 95th percentile "
        "over twelve weeks, and when an upgrade is due.\n"
    ),
    "防火墙变更细则.md": (
        "# 防火墙变更细则\n\n提交防火墙策略变更之前要准备的材料、审批级别、变更窗口和回退步骤。\n\n"
        "## 紧急变更\n\n事后二十四小时内补单。\n"
    ),
    "无线优化手册.md": (
        "# 无线优化手册\n\n信道规划、发射功率、漫游阈值的调整方法，以及高密场所的 AP 布放。\n"
    ),
    "割接方案模板说明.md": (
        "# 割接方案模板说明\n\n割接方案的章节、每一步的预期结果、验证命令、倒回条件和人员分工。\n"
    ),
    "语音质量排查.md": (
        "# 语音质量排查\n\n通话断续、单通、回声的定位方法：抖动、时延、丢包、QoS 队列和编解码。\n"
    ),
    "机房巡检清单.md": ("# 机房巡检清单\n\n电源、温度、湿度、风扇、告警灯、线缆标签的检查项目和合格标准。\n"),
}
MEANT = [
    ("Why does R1 prefer the path via AS 65020 over the shorter one?", "ROUTING_EXPERT_GUIDE.md"),
    ("explain the BGP decision process for this prefix", "ROUTING_EXPERT_GUIDE.md"),
    ("how does a route reflector avoid loops?", "ROUTING_EXPERT_GUIDE.md"),
    ("Draw the topology of the Lyon site as a diagram", "mermaid_syntax.md"),
    ("what is the syntax for a subgraph in the topology drawing?", "mermaid_syntax.md"),
    ("how is the output of the devices loaded into the database?", "snapshot_pipeline.md"),
    ("a device did not answer during collection, what happens to its data?", "snapshot_pipeline.md"),
    ("audit the access lists of the edge firewalls", "acl_audit_rules.md"),
    ("which ACL entries are shadowed or never hit?", "acl_audit_rules.md"),
    ("when do we have to upgrade the link to Frankfurt?", "capacity_model.md"),
    ("forecast the utilisation of our uplinks", "capacity_model.md"),
    ("我要改防火墙策略，需要走哪些审批？", "防火墙变更细则.md"),
    ("紧急的防火墙变更怎么补单", "防火墙变更细则.md"),
    ("会议室 Wi-Fi 信号差，信道怎么规划", "无线优化手册.md"),
    ("AP 的发射功率应该调多少？", "无线优化手册.md"),
    ("帮我写一份核心交换机的割接方案", "割接方案模板说明.md"),
    ("割接失败什么时候必须倒回？", "割接方案模板说明.md"),
    ("用户说电话里声音断断续续", "语音质量排查.md"),
    ("通话有回声是什么原因", "语音质量排查.md"),
    ("今天机房巡检要看哪些项目", "机房巡检清单.md"),
    ("机房温度多少算合格？", "机房巡检清单.md"),
]
ACROSS = [
    ("为什么路由器优选了这条 BGP 路径？", "ROUTING_EXPERT_GUIDE.md"),
    ("把拓扑画成图", "mermaid_syntax.md"),
    ("审计访问控制列表", "acl_audit_rules.md"),
    ("预测链路利用率，什么时候扩容", "capacity_model.md"),
    ("which approvals does a firewall policy change need?", "防火墙变更细则.md"),
    ("plan the Wi-Fi channels for the auditorium", "无线优化手册.md"),
    ("users complain about choppy voice calls", "语音质量排查.md"),
    ("what is checked during a data centre inspection round?", "机房巡检清单.md"),
]
NONE = [
    "What is the capital of Peru?",
    "hello, who are you?",
    "Register an InfluxDB service for the Lyon site",
    "who is on call this weekend?",
    "What is the loopback address of R1?",
    "reset my password please",
    "translate this e-mail into French",
    "list the devices with role border",
    "restart the collector on host db-3",
    "summarise yesterday's incident",
    "今天上海天气怎么样？",
    "你好，介绍一下你自己",
    "R3 的管理地址是多少？",
    "把会议改到下午三点",
    "给访客新建一个账号",
    "列出所有边界设备",
    "昨天的工单处理完了吗",
    "帮我写一个排序算法",
    "注册一个 Grafana 服务",
    "重启数据库主机",
]

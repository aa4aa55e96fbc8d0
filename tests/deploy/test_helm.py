"""The chart, by Helm's own library: it lints it, renders it, and refuses values that cannot work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import ledgeragent
from tests.cli.command import ROOT
from tests.cli.command import ledgeragent as command

helm = pytest.importorskip("helm_python", reason="helm-python-sdk is not installed")

CHART = ROOT / "deploy" / "helm" / "ledgeragent"


SORTS: list[dict[str, Any]] = [
    {},
    {"replicas": 3},
    {"journal": {"claim": "journals"}},
    {"resources": {"limits": {"memory": "512Mi"}}, "podAnnotations": {"a": "b"}},
]


def rendered(**values: Any) -> dict[str, Any]:
    """What Helm makes of the chart, each document by its kind."""
    with helm.Chart.load(CHART) as chart:
        texts = chart.render(values, name="gate", namespace="agents").values()
    documents = [document for text in texts for document in yaml.safe_load_all(text) if document]
    return {document["kind"]: document for document in documents}


@pytest.mark.parametrize("values", SORTS)
def test_helm_lints_it(values: dict[str, Any]) -> None:
    report = helm.lint(CHART, values, strict=True)
    assert report["total_charts_linted"] == 1 and report["errors"] == []
    assert [m for m in report["messages"] if m["severity"] > 1] == []


@pytest.mark.parametrize("version", ["1.27", "1.32", "1.37"])
@pytest.mark.parametrize("values", SORTS)
def test_kubernetes_would_take_it(values: dict[str, Any], version: str) -> None:
    """By the schemas of its API, unknown fields refused."""
    schemas = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is missing")
    for document in rendered(**values).values():
        schemas.validate(document, version, strict=True)
    with pytest.raises(schemas.ValidationError):
        schemas.validate({**document, "specs": {}}, version, strict=True)


def test_it_is_of_this_version_and_refers_to_what_it_makes() -> None:
    with helm.Chart.load(CHART) as chart:
        assert chart.metadata["appVersion"] == ledgeragent.__version__
    made = rendered()
    assert made.keys() == {"ConfigMap", "Service", "Deployment"}
    pod = made["Deployment"]["spec"]["template"]
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    assert volumes["config"]["configMap"]["name"] == made["ConfigMap"]["metadata"]["name"]
    assert made["Service"]["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    selector = made["Deployment"]["spec"]["selector"]["matchLabels"]
    assert selector.items() <= pod["metadata"]["labels"].items()
    (container,) = pod["spec"]["containers"]
    (port,) = container["ports"]
    assert made["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]
    for probe in ("livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] == port["name"]
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes.keys()


def test_the_container_is_closed_down_and_has_time_to_finish() -> None:
    pod = rendered(drain={"delay": 7, "timeout": 60})["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
    closed = container["securityContext"]
    assert closed["readOnlyRootFilesystem"] and closed["capabilities"] == {"drop": ["ALL"]}
    assert closed["allowPrivilegeEscalation"] is False
    assert pod["terminationGracePeriodSeconds"] > 67


def test_its_configuration_and_environment_are_what_the_command_takes(tmp_path: Path) -> None:
    made = rendered()
    file = tmp_path / "gateway.toml"
    file.write_text(made["ConfigMap"]["data"]["gateway.toml"])
    (container,) = made["Deployment"]["spec"]["template"]["spec"]["containers"]
    env = {entry["name"]: entry["value"] for entry in container["env"]}
    keys = {"OUR_KEYS": "k", "UPSTREAM_KEY": "u"}
    checked = command("gateway", "check", file, env={**env, **keys})
    assert (checked.code, checked.err) == (0, "")
    help_text = command("gateway", "-h").out
    for name in env:
        assert f"--{name.removeprefix('LEDGERAGENT_').lower().replace('_', '-')}" in help_text


def test_several_replicas_may_be_moved_one_by_one() -> None:
    made = rendered(replicas=3)
    assert made["PodDisruptionBudget"]["spec"]["maxUnavailable"] == 1


@pytest.mark.parametrize(
    "values, problem",
    [
        ({"replicas": 2, "journal": {"claim": "journals"}}, "one writer"),
        ({"replicas": 0}, "replicas"),
        ({"secrets": "x"}, "secrets"),
        ({"config": ""}, "config"),
    ],
)
def test_values_that_cannot_work_are_refused(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(helm.HelmError, match=problem), helm.Chart.load(CHART) as chart:
        chart.validate_schema(chart.merge_values(values))
        chart.render(values, name="gate")

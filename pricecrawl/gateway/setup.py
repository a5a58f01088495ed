"""From the configuration to a gateway, or to none."""

from __future__ import annotations

from pricecrawl.config import Config
from pricecrawl.gateway.calls import Recorder
from pricecrawl.gateway.gateway import Gateway, Tariff
from pricecrawl.gateway.providers import OpenAICompatible


def gateway_of(config: Config, recorder: Recorder) -> Gateway | None:
    """The configured gateway; None unless an address, a model and one of the switches are set."""
    if not (config.ai_url and config.ai_model) or not (config.ai_auto_mapping or config.ai_verification):
        return None
    provider = OpenAICompatible(config.ai_url, config.ai_model, config.ai_key)
    return Gateway(provider, recorder, Tariff(config.ai_input_price, config.ai_output_price))

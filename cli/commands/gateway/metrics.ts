/** `hookwright gateway metrics`: the running gateway's counters as Prometheus text. */
import { Command } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { askGateway } from '../../gateway/ask-gateway.ts';

export class GatewayMetricsCommand extends Command<CliContext> {
  static override paths = [['gateway', 'metrics']];
  static override usage = Command.Usage({
    description: "Print the running gateway's metrics as Prometheus text",
    details: 'The control socket answers the same to `GET /metrics`, for a collector on the same machine.',
    examples: [['Count the deliveries', '$0 gateway metrics | grep deliver']],
  });

  async execute(): Promise<number> {
    const { text } = await askGateway(this.context, 'metrics', {});
    this.context.stdout.write(text);
    return 0;
  }
}

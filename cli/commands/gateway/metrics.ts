/** `hookwright gateway metrics`: the running gateway's counters as Prometheus text. */
import { command } from '../../command-line/command.ts';
import { askGateway } from '../../gateway/ask-gateway.ts';

export default command({
  summary: "Print the running gateway's metrics as Prometheus text",
  details: 'The control socket answers the same to `GET /metrics`, for a collector on the same machine.',
  examples: [['Count the deliveries', '$0 gateway metrics | grep deliver']],
  async run(context) {
    const { text } = await askGateway(context, 'metrics', {});
    context.stdout.write(text);
  },
});

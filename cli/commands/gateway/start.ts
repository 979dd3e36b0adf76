/** `hookwright gateway start`: `gateway run` in the background, with a log file; returns once it serves. */
import { command } from '../../command-line/command.ts';
import { tryAskGateway } from '../../gateway/ask-gateway.ts';
import { alreadyServed, launchOptions, startGateway } from '../../gateway/launch.ts';

export default command({
  summary: 'Start the gateway in the background, with a log file',
  details:
    'Compiles the configuration, serves it, and recompiles it on change, like `gateway run`. Returns when it serves; when it cannot, prints why and exits 1. To have it started at boot and restarted after a crash, use `gateway install-service`.',
  examples: [
    ['Start, look, stop', '$0 gateway start && $0 gateway status && $0 gateway stop'],
    ['With a configuration of its own', '$0 gateway start --config ./hookwright.yaml --port 9000'],
  ],
  options: launchOptions,
  async run(context, given) {
    const running = await tryAskGateway(context, 'status', {});
    if (running !== null) throw alreadyServed(context, running);
    await startGateway(context, given);
  },
});

/** `hookwright deliver`: sends one message through a target as a route would. */
import { text as readAll } from 'node:stream/consumers';
import { Command, Option } from 'clipanion';
import type { SwappableDeliverer } from '../../runtime/deliver/create-deliverer.ts';
import { createDeliverer } from '../../runtime/deliver/create-deliverer.ts';
import type { DeliveryOutcome, DeliveryRequest } from '../../runtime/deliver/deliverer.ts';
import { createDeliveryContext } from '../../runtime/deliver/delivery-context.ts';
import { DeliveryRefusal } from '../../runtime/deliver/http/values.ts';
import { runProcess } from '../../runtime/platform/process/run-process.ts';
import { createSecrets } from '../../runtime/platform/secrets/machine-secrets.ts';
import type { CliContext } from '../base/context.ts';
import { CliError, UsageError } from '../base/errors.ts';
import { configOption } from '../command-line/options.ts';
import type { TargetChoice } from '../deliver/link-one.ts';
import { chooseTarget, lenient, linkOne } from '../deliver/link-one.ts';
import { printShown } from '../deliver/print-shown.ts';
import { printJson, printLine } from '../output/print.ts';
import { createServerLog } from '../serve/server-log.ts';
import { openTable } from '../subscriptions/open-table.ts';

export class DeliverCommand extends Command<CliContext> {
  static override paths = [['deliver']];
  static override usage = Command.Usage({
    description: 'Send one message through a target, or show what would be sent',
    details:
      'Uses the credentials and the home channel of the configuration. One attempt is made; it exits 1 unless the message was taken. --dry-run prints the request with every secret hidden and sends nothing.',
    examples: [
      ['To the home channel', '$0 deliver telegram --text "It works"'],
      ['What would be sent', '$0 deliver slack --chat-id C0123 --text hello --dry-run'],
      ['A comment', '$0 deliver github --extra repo=o/r --extra pr_number=7 --text -'],
    ],
  });

  target = Option.String({ name: 'target' });
  text = Option.String('--text', { description: '<text> The message; - reads it from stdin' });
  chatId = Option.String('--chat-id', { description: '<id> Chat; default: the home channel' });
  thread = Option.String('--thread', { description: '<id> Thread of the chat' });
  extra = Option.Array('--extra', { description: '<key=value> Further keys of deliver_extra; repeatable' });
  profile = Option.String('--profile', 'default', { description: '<profile> Whose credentials' });
  dryRun = Option.Boolean('--dry-run', false, { description: 'Print the request, secrets hidden; send nothing' });
  json = Option.Boolean('--json', false, { description: 'Print the outcome, or the requests, as JSON' });
  config = configOption();

  async execute(): Promise<number> {
    const { context } = this;
    const text = await this.message();
    const { table } = await openTable(context, this.config);
    const choice = { table, target: this.target, profile: this.profile };
    const delivery = createDeliveryContext({
      ...{ home: context.home, env: context.env, clock: context.clock, log: createServerLog(context) },
      run: (request) => runProcess(request, context.clock),
    });
    try {
      const secrets = createSecrets(context);
      const linked = linkOne(choice, this.dryRun ? lenient(secrets) : secrets, delivery.context);
      const deliverer = createDeliverer({ linked, context: delivery.context, mirror: async () => {} });
      return await this.run(deliverer, this.request(text, choice));
    } finally {
      await delivery.close();
    }
  }

  private async run(deliverer: SwappableDeliverer, request: DeliveryRequest): Promise<number> {
    try {
      return this.dryRun ? await this.show(deliverer, request) : this.report(await deliverer.deliver(request));
    } catch (error) {
      if (error instanceof DeliveryRefusal) throw new CliError(`${this.target}: ${error.message}`);
      throw error;
    }
  }

  private async show(deliverer: SwappableDeliverer, request: DeliveryRequest): Promise<number> {
    const shown = await deliverer.show(request);
    if (this.json) printJson(this.context, shown);
    else
      for (const [index, one] of shown.entries()) {
        if (index > 0) printLine(this.context, '---');
        printShown(this.context, one);
      }
    return 0;
  }

  private report(outcome: DeliveryOutcome): number {
    if (this.json) printJson(this.context, { target: this.target, ...outcome });
    else if (outcome.kind === 'ok') {
      const { message_id: id } = outcome;
      printLine(this.context, `delivered to ${this.target}${id === null ? '' : ` (message ${id})`}`);
    } else {
      const wait = outcome.retry_after_ms;
      const hint = wait === null ? [] : [`come back in ${Math.ceil(wait / 1000)} s`];
      throw new CliError(`${this.target}: ${outcome.kind}: ${outcome.reason}`, ...hint);
    }
    return outcome.kind === 'ok' ? 0 : 1;
  }

  private request(text: string, choice: TargetChoice): DeliveryRequest {
    return {
      key: this.context.random(16).toString('hex'),
      ...{ profile: this.profile, route: 'deliver', delivery_id: 'command-line', target: chooseTarget(choice) },
      extra: this.address(),
      unresolved: [],
      ...{ text, sent: 0, first_attempt_at: null, mirror_to_session: false },
      signal: this.untilInterrupted(),
    };
  }

  private address(): Record<string, string> {
    const extra = (this.extra ?? []).map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new UsageError(`--extra takes key=value, not "${pair}"`);
      return [pair.slice(0, at), pair.slice(at + 1)] as const;
    });
    return {
      ...Object.fromEntries(extra),
      ...(this.chatId === undefined ? {} : { chat_id: this.chatId }),
      ...(this.thread === undefined ? {} : { message_thread_id: this.thread }),
    };
  }

  private async message(): Promise<string> {
    if (this.text === undefined) throw new UsageError('deliver needs a message', '--text "…", or --text - for stdin');
    return this.text === '-' ? readAll(this.context.stdin) : this.text;
  }

  private untilInterrupted(): AbortSignal {
    const giveUp = new AbortController();
    this.context.onSignal(() => giveUp.abort());
    return giveUp.signal;
  }
}

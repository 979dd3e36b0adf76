/** `hookwright gateway loops release`: ends the pause of a key. */
import { CliError } from '../../../../../../cli/base/errors.ts';
import { argument, command } from '../../../../../../cli/command-line/command.ts';
import { findName } from '../../../../../../cli/command-line/find-name.ts';
import { configOption } from '../../../../../../cli/command-line/options.ts';
import { printLine, visible } from '../../../../../../cli/output/print.ts';
import { formatDuration } from '../../../../../../cli/output/time.ts';
import { useStore } from '../../../../../../cli/store/use-store.ts';
import { runKeyText } from '../../../../../../runtime/store/run-key.ts';
import type { Store } from '../../../../../../runtime/store/store.ts';
import type { PausedKey } from '../../../../runtime/paused-keys.ts';
import { pausedKeys } from '../../../../runtime/paused-keys.ts';

export default command({
  summary: 'End the pause of a key that has had too many runs',
  details: 'Its next event runs; the events that came meanwhile were ignored and do not come back.',
  examples: [['By id', '$0 gateway loops release 3f2a9c01d7']],
  options: { config: configOption },
  args: { reference: argument('id or key') },
  async run(context, given) {
    const now = context.clock.now();
    const released = await useStore(context, (store) => release(store, given.reference, now), given.config);
    const { of, until } = released ?? find([], given.reference);
    const owner = of.route === null ? '' : ` of route ${of.route}`;
    printLine(context, `${visible(`${runKeyText(of)}${owner}`)} is released, ${formatDuration(until - now)} early`);
  },
});

function find(paused: readonly PausedKey[], name: string): PausedKey {
  const known = paused.flatMap((each) => [[each.id, each] as const, [runKeyText(each.of), each] as const]);
  return findName<PausedKey>({ kind: 'paused key', name, known, listedBy: 'hookwright gateway loops list' });
}

async function release(store: Store, name: string, now: number) {
  const paused = await pausedKeys(store, now);
  const found = find(paused, name);
  const { body, ...row } = found.row;
  const change = { expect: body, body: null, expires_at: null, dispatch: null, now };
  if (!(await store.write({ kind: 'put_guard', row, ...change })))
    throw new CliError(`the pause of "${visible(runKeyText(found.of))}" has just ended`);
  return found;
}

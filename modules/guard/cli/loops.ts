/** `hookwright gateway loops`: keys that are paused because they exceeded their limit of runs. */
import { CliError, findName } from '../../../cli/base/errors.ts';
import { argument, command } from '../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../cli/command-line/options.ts';
import { printLine, visible } from '../../../cli/output/print.ts';
import { formatDuration, printList } from '../../../cli/output/table.ts';
import { useStore } from '../../../cli/store/use-store.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import type { PausedKey } from '../runtime/loops.ts';
import { pausedKeys, runKeyText } from '../runtime/loops.ts';

/** `hookwright gateway loops list`: lists the paused keys. */
export const gatewayLoopsListCommand = command({
  options: { config: configOption, json: jsonOption },
  async run(context, given) {
    const now = context.clock.now();
    const paused = (await useStore(context, (store) => pausedKeys(store, now), given.config)) ?? [];
    printList(context, paused, {
      json: given.json,
      toJson: ({ id, of, until }) => {
        const key = runKeyText(of);
        return { id, name: key, profile: of.profile, route: of.route, key, until };
      },
      columns: [
        { title: 'ID', value: ({ id }) => id, whole: true },
        { title: 'ROUTE', value: ({ of }) => visible(of.route ?? '(session)'), whole: true },
        { title: 'LEFT', value: ({ until }) => formatDuration(until - now) },
        { title: 'KEY', value: ({ of }) => visible(runKeyText(of)) },
      ],
      empty: 'no key is paused',
    });
  },
});

/** `hookwright gateway loops release`: ends the pause of a key. */
export const gatewayLoopsReleaseCommand = command({
  options: { config: configOption },
  args: { reference: argument('id or key') },
  async run(context, given) {
    const now = context.clock.now();
    const released = await useStore(context, (store) => release(store, given.reference, now), given.config);
    const { of, until } = released ?? findKey([], given.reference);
    const owner = of.route === null ? '' : ` of route ${of.route}`;
    printLine(context, `${visible(`${runKeyText(of)}${owner}`)} released, ${formatDuration(until - now)} early`);
  },
});

function findKey(paused: readonly PausedKey[], name: string): PausedKey {
  const known = paused.flatMap((each) => [[each.id, each] as const, [runKeyText(each.of), each] as const]);
  return findName<PausedKey>({ kind: 'paused key', name, known, listedBy: 'hookwright gateway loops list' });
}

async function release(store: Store, name: string, now: number) {
  const paused = await pausedKeys(store, now);
  const key = findKey(paused, name);
  const { body, ...row } = key.row;
  const change = { expect: body, body: null, expires_at: null, dispatch: null, now };
  if (!(await store.write({ kind: 'put_guard', row, ...change })))
    throw new CliError(`the pause of "${visible(runKeyText(key.of))}" has just ended`);
  return key;
}

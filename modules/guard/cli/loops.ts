/** `hookwright gateway loops`: keys that are paused because they exceeded their limit of runs. */
import { CliError, findName } from '../../../cli/base/errors.ts';
import { argument, command, flag } from '../../../cli/command-line/command.ts';
import { byOption, configOption, jsonOption } from '../../../cli/command-line/options.ts';
import { printLine, visible } from '../../../cli/output/print.ts';
import { formatDuration, printList } from '../../../cli/output/table.ts';
import { useStore } from '../../../cli/store/use-store.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import type { Ref } from '../../../runtime/store/records.ts';
import type { PausedKey, RunTimes } from '../runtime/loops.ts';
import { pausedKeys, runKeyText } from '../runtime/loops.ts';

/** `hookwright gateway loops list`: lists the paused keys. */
export const gatewayLoopsListCommand = command({
  options: { config: configOption, json: jsonOption },
  async run(context, given) {
    const now = context.clock.now();
    const paused = (await useStore(context, (store) => pausedKeys(store, now), given.config)) ?? [];
    printList(context, paused, {
      json: given.json,
      toJson: ({ id, of, until, held }) => {
        const key = runKeyText(of);
        return { id, name: key, profile: of.profile, route: of.route, key, until, held: held.length };
      },
      columns: [
        { title: 'ID', value: ({ id }) => id, whole: true },
        { title: 'ROUTE', value: ({ of }) => visible(of.route ?? '(session)'), whole: true },
        { title: 'LEFT', value: ({ until }) => formatDuration(until - now) },
        { title: 'HELD', value: ({ held }) => String(held.length) },
        { title: 'KEY', value: ({ of }) => visible(runKeyText(of)) },
      ],
      empty: 'no key is paused',
    });
  },
});

/** `hookwright gateway loops release`: ends the pause of a key; its held runs start, or are dropped. */
export const gatewayLoopsReleaseCommand = command({
  options: { by: byOption, config: configOption, drop: flag('Drop the events that wait for the key.') },
  args: { reference: argument('id or key') },
  async run(context, given) {
    const now = context.clock.now();
    const released = await useStore(context, (store) => release(store, given.reference, given.drop, now), given.config);
    const { of, until, held } = released ?? findKey([], given.reference);
    const owner = of.route === null ? '' : ` of route ${of.route}`;
    printLine(
      context,
      `${visible(`${runKeyText(of)}${owner}`)} released, ${formatDuration(until - now)} early; ${held.length} held events ${given.drop ? 'dropped' : 'run now'}`,
    );
  },
});

function findKey(paused: readonly PausedKey[], name: string): PausedKey {
  const known = paused.flatMap((each) => [[each.id, each] as const, [runKeyText(each.of), each] as const]);
  return findName<PausedKey>({ kind: 'paused key', name, known, listedBy: 'hookwright gateway loops list' });
}

/** Each held run is a separate change, so what a kill leaves behind is still held. */
async function release(store: Store, name: string, drop: boolean, now: number): Promise<PausedKey> {
  const key = findKey(await pausedKeys(store, now), name);
  const changed: Ref[] = [];
  for (let { row, held } = key; ; ) {
    const [ref] = held;
    const { body: expect, ...of } = row;
    const left = { ...(JSON.parse(expect) as RunTimes), held: held.slice(1) };
    const body = ref === undefined ? null : JSON.stringify(left);
    const change = { expect, body, expires_at: ref === undefined ? null : key.until, dispatch: null, now };
    const more = ref === undefined ? {} : { held: { ref, drop } };
    if (await store.write({ kind: 'put_guard', row: of, ...change, ...more })) {
      if (ref === undefined || body === null) return { ...key, held: changed };
      changed.push(ref);
      [row, held] = [{ ...of, body }, left.held];
      continue;
    }
    // An event has arrived in the meantime.
    const again = (await pausedKeys(store, now)).find(({ id }) => id === key.id);
    if (again === undefined) throw new CliError(`the pause of "${visible(runKeyText(key.of))}" has just ended`);
    [row, held] = [again.row, again.held];
  }
}

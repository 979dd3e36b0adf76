/** `hookwright profile list`: the profiles of this home, with what is bound to each. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PROFILE_NAME } from '../../../base/profiles.ts';
import { command } from '../../command-line/command.ts';
import { configOption, jsonOption } from '../../command-line/options.ts';
import { printList } from '../../output/table.ts';
import type { ProfileClosure } from '../../profiles/closure.ts';
import { loadClosures } from '../../profiles/closure.ts';
import { openTable } from '../../subscriptions/open-table.ts';

/** The folder is not served because profiles are switched off. */
type Row = Pick<ProfileClosure, 'id' | 'name' | 'home' | 'agent' | 'routes' | 'targets'> & { readonly served: boolean };

export default command({
  summary: 'List the profiles of this home and what is bound to each',
  examples: [
    ['Who is served here', '$0 profile list'],
    ['For scripts', '$0 profile list --json'],
  ],
  options: { config: configOption, json: jsonOption },
  async run(context, given) {
    const open = await openTable(context, given.config);
    const served = loadClosures(context.home, open).map((closure): Row => ({ ...closure, served: true }));
    const others = folders(join(context.home, 'profiles')).filter((name) => !served.some((row) => row.name === name));
    const rows = [...served, ...others.map(unserved)];
    printList(context, rows, {
      json: given.json,
      columns: [
        { title: 'NAME', value: ({ name }) => name, whole: true },
        { title: 'ROUTES', value: ({ routes }) => routes.map(({ name }) => name).join(','), whole: true },
        { title: 'TARGETS', value: ({ targets }) => targets.join(','), whole: true },
        { title: 'AGENT', value: ({ agent }) => agent },
        { title: 'STATE', value: (row) => (row.served ? 'served' : 'not served: gateway.multiplex_profiles is off') },
      ],
      empty: 'no profiles',
    });
  },
});

function folders(path: string): string[] {
  const names = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(path) : [];
  return names.filter((name) => PROFILE_NAME.test(name) && statSync(join(path, name)).isDirectory()).sort();
}

const unserved = (name: string): Row => ({
  ...{ id: name, name, home: `profiles/${name}`, agent: '', routes: [], targets: [], served: false },
});

/** `hookwright source list`: every sender the catalog knows, shipped and the user's own. */

import { command, flag, optionalArgument } from '../../../../../cli/command-line/command.ts';
import { configOption } from '../../../../../cli/command-line/options.ts';
import type { Column } from '../../../../../cli/output/table.ts';
import { printList } from '../../../../../cli/output/table.ts';
import type { OpenSource } from '../../../../../cli/sources/open-sources.ts';
import { openSources } from '../../../../../cli/sources/open-sources.ts';
import { describeWindow } from '../../../../../compiler/sources/describe-source.ts';
import { commonName } from '../../../../../compiler/text/common-name.ts';
import { primitiveName } from '../../../compiler/describe-source.ts';

export default command({
  summary: 'List the senders whose webhooks can be verified',
  details: 'A word narrows the list to the sources whose name, alias or title holds it.',
  examples: [
    ['All of them', '$0 source list'],
    ['Those of one service', '$0 source list gitlab'],
  ],
  options: { json: flag('Print the sources as JSON'), config: configOption },
  args: { word: optionalArgument('word') },
  async run(context, given) {
    const { sources } = await openSources(context, given.config);
    const word = given.word?.toLowerCase() ?? '';
    const shown = sources.filter(({ name, file }) =>
      [name, file.title ?? '', ...(file.aliases ?? [])].some((text) => text.toLowerCase().includes(word)),
    );
    printList(context, shown, {
      json: given.json,
      toJson: describeJson,
      columns: COLUMNS,
      empty: `no source is called anything like "${word}"`,
    });
  },
});

/** Names that a configuration may use as well. */
function otherNames({ name, file }: OpenSource): string {
  const known = commonName(name, file);
  return [name, ...(file.aliases ?? [])].filter((other) => other !== known).join(', ');
}

const COLUMNS: readonly Column<OpenSource>[] = [
  { title: 'SOURCE', value: ({ name, file }) => commonName(name, file), whole: true },
  { title: 'SENDER', value: ({ file }) => file.title ?? '', wrap: true },
  { title: 'SIGNS WITH', value: ({ file }) => primitiveName(file.verify) },
  { title: 'WINDOW', value: ({ file }) => describeWindow(file) ?? '-' },
  { title: 'ALSO CALLED', value: otherNames, whole: true },
];

function describeJson({ name, file, own }: OpenSource): unknown {
  const { title, aliases = [], docs = null, verify, timestamp, evidence = null } = file;
  return { name, title, aliases, docs, verify, window_seconds: timestamp?.tolerance ?? null, evidence, own };
}

/** What the console shows of a kept request beside itself. */
import type { CliContext } from '../../../../cli/base/context.ts';
import type { KeptTools } from '../../../../cli/base/module.ts';
import { keptParts } from '../explain/read-request.ts';
import { printCurl } from './print-request.ts';

export const shownKept: Pick<KeptTools<CliContext>, 'explain' | 'asCurl' | 'asTest'> = {
  async explain(context, kept, served) {
    const { parts, verifiedBy, cameAt } = keptParts(kept);
    const { explainRoute } = await import('../explain/explain-route.ts');
    return explainRoute(context, { ...served, request: parts, verifiedBy, cameAt, event: null, runsScript: false });
  },
  asCurl: printCurl,
  async asTest(context, kept, table) {
    const [{ testedTable }, { printTest }] = await Promise.all([
      import('../test/tested-config.ts'),
      import('./print-test.ts'),
    ]);
    const config = testedTable(context, table, []);
    if (config.plan(kept.route)?.script == null) return printTest(kept, config, null);
    // A page starts no program: what stands in for it drops the event where the script did, and else changes nothing.
    const stdout = kept.reason === 'script' ? '' : Buffer.from(kept.body ?? '', 'base64').toString('utf8');
    return `# The script is not run: \`script\` stands in for it. Without that, it runs.\n${await printTest(kept, config, null, { stdout })}`;
  },
};

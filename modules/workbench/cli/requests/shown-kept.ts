/** What the console shows of a kept request beside itself. */
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
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
    if (config.plan(kept.route)?.script != null)
      throw new CliError(
        `route ${kept.route} has a script, which would run`,
        `hookwright requests show ${kept.id} --as-test --run-script`,
      );
    return printTest(kept, config, null);
  },
};

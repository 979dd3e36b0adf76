/** The module's part of the compiler. */
import type { CompilerPart } from '../../../compiler/module.ts';
import { rule } from '../../../compiler/rules/support/rule.ts';
import type { RouteView } from '../../../compiler/views/views.ts';
import { createPayloads, payloadsOf } from './payloads/payloads.ts';
import { RULE_FILES } from './rules/built/rule-files.ts';
import { reachOf } from './untrusted/reach.ts';
import { untrustedParts } from './untrusted/untrusted-texts.ts';

/** One check finds the problems of these rules. */
const ofPaths = (['impossible-filter', 'unknown-event-action', 'unknown-payload-path'] as const).map((id) =>
  rule(id, {
    route(view, report) {
      for (const problem of payloadsOf(view)?.problemsOf(view) ?? []) if (problem.rule === id) report(problem);
    },
  }),
);

export const compilerPart: CompilerPart = {
  rules: [...RULE_FILES, ...ofPaths],
  payloads: (input, report) =>
    Object.assign(createPayloads(input, report), {
      readsStrangers: (route: RouteView) => untrustedParts(route).length > 0,
      reachOf,
    }),
};

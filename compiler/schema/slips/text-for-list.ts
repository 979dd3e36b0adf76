/** `events: pull_request`, `command: claude -p`: text where a list is expected. */
import { PROXIES, parseNetwork } from '../../config/network.ts';
import { holdsCredential } from '../../diagnostics/printable.ts';
import { argvText, needsShell } from '../../text/argv-text.ts';
import { flowText } from '../../text/flow-text.ts';
import { typesOf } from '../alternatives.ts';
import { valueAt } from '../pointer.ts';
import type { ShapePlace, ShapeProblem } from '../shape-problem.ts';
import { atValue, nameOf } from '../shape-problem.ts';
import type { Slip } from './slip.ts';

export const textForList: Slip = (place, { keyword, params }) => {
  const found = valueAt(place.data, place.path);
  if (keyword !== 'type' || typeof found !== 'string' || found.trim() === '') return null;
  const types = typesOf(params);
  if (place.path.length === 1 && place.path[0] === 'agent' && types.includes('object')) return agentText(place, found);
  if (types.length !== 1 || types[0] !== 'array') return null;
  return place.path.at(-1) === 'command' ? commandText(place, found) : namesText(place, found);
};

function namesText(place: ShapePlace, found: string): ShapeProblem {
  // A comma inside braces belongs to a glob.
  const names = /[{}"\n]/.test(found) ? [found] : found.split(',').map((name) => name.trim());
  const list = flowText(names.filter((name) => name !== ''));
  const name = nameOf(place.path);
  if (name === 'trusted_proxies' && names.some((text) => parseNetwork(text) === null))
    return { ...atValue(place, 'wrong-type', `\`${name}\` must be a list, not text`), hint: PROXIES };
  if (holdsCredential(`${name}: ${list}`)) return atValue(place, 'wrong-type', `\`${name}\` must be a list, not text`);
  const problem = atValue(place, 'wrong-type', `\`${name}\` must be a list, not text: write \`${name}: ${list}\``);
  return { ...problem, fix: { kind: 'replace', text: list } };
}

function commandText(place: ShapePlace, found: string): ShapeProblem {
  const message = '`command` must be a list of arguments, because no shell reads it';
  if (holdsCredential(found)) return { ...atValue(place, 'wrong-type', message), sensitive: true };
  if (needsShell(found)) {
    const hint =
      'write one entry for each argument, e.g. `command: [sh, -c, "my-agent | tee log"]` if you need a shell';
    return { ...atValue(place, 'wrong-type', message), hint };
  }
  const list = argvText(found);
  const problem = atValue(place, 'wrong-type', `${message}: write \`command: ${list}\``);
  return { ...problem, fix: { kind: 'replace', text: list } };
}

function agentText(place: ShapePlace, found: string): ShapeProblem {
  const message = '`agent` must be a map, not text';
  if (needsShell(found) || holdsCredential(found))
    return {
      ...atValue(place, 'wrong-type', message),
      hint: 'write the program as `command: [program, argument]` below it',
    };
  const text = `{ command: ${argvText(found)} }`;
  const problem = atValue(place, 'wrong-type', `${message}: write \`agent: ${text}\``);
  return { ...problem, fix: { kind: 'replace', text } };
}

/**
 * One-letter edits of the paths of an event, and the diagnostics about them. Open objects are left out, because any
 * path below them is valid.
 */

import { listPaths } from '../../modules/payloads/compiler/shapes/describe.ts';
import type { FormSet } from '../../modules/payloads/compiler/shapes/form-set.ts';
import { findPath } from '../../modules/payloads/compiler/shapes/form-set.ts';
import { suggestPaths, treeOf } from '../../modules/payloads/compiler/shapes/suggest-path.ts';

export interface TypoCount {
  /** Number of checked edits. */
  tried: number;
  /** Edits that are valid paths themselves, among them other indexes of a list. */
  paths: number;
  reported: number;
  /** The edited path is the first suggestion. */
  right: number;
  /** Some of the edits that were not reported, or had another suggestion first. */
  readonly missed: string[];
  readonly wrong: string[];
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789_.-';
const SHOWN = 20;

/** @param step checks every n-th edit, beginning with the first */
export function countTypos(set: FormSet, step: number): TypoCount {
  const count: TypoCount = { tried: 0, paths: 0, reported: 0, right: 0, missed: [], wrong: [] };
  let at = 0;
  for (const { path } of listPaths(set)) {
    if (isBelowOpen(set, path)) continue;
    const text = path.join('.');
    for (const typo of editsOf(text)) if (at++ % step === 0) tryTypo(set, text, typo, count);
  }
  return count;
}

const isBelowOpen = (set: FormSet, path: readonly string[]): boolean =>
  path.some((_, depth) => treeOf(set).isOpen(treeOf(set).below(treeOf(set).root, path.slice(0, depth))));

function tryTypo(set: FormSet, text: string, typo: string, count: TypoCount): void {
  const path = typo.split('.');
  // An empty part is a separate error (`template-syntax`, `filter-field`), which names the right path.
  const isSlip = path.includes('');
  const isUnknown = isSlip || set.forms.every(({ root }) => findPath(set.shape.graph, root, path).kind === 'absent');
  if (!isUnknown && isOtherPath(set, path)) {
    count.paths++;
    return;
  }
  count.tried++;
  if (!isUnknown) note(count.missed, typo);
  if (!isUnknown) return;
  count.reported++;
  const [first] = isSlip ? [text.split('.')] : suggestPaths(set, path);
  if (first?.join('.') === text) count.right++;
  else note(count.wrong, `${text} <- ${typo} -> ${first?.join('.') ?? 'nothing'}`);
}

/** A path of the shape, or an index of a list; not one below an open object. */
const isOtherPath = ({ shape, forms }: FormSet, path: readonly string[]): boolean =>
  forms.some(({ root }) => findPath(shape.graph, root, path).kind === 'node' || namesLast(shape, root, path));

function namesLast(shape: FormSet['shape'], root: number, path: readonly string[]): boolean {
  const above = findPath(shape.graph, root, path.slice(0, -1));
  return above.kind === 'node' && shape.graph.node(above.node).properties.has(path.at(-1) ?? '');
}

function note(list: string[], text: string): void {
  if (list.length < SHOWN) list.push(text);
}

function editsOf(text: string): ReadonlySet<string> {
  const edits = new Set<string>();
  for (let at = 0; at <= text.length; at++) {
    const before = text.slice(0, at);
    for (const letter of LETTERS) {
      edits.add(before + letter + text.slice(at));
      if (at < text.length) edits.add(before + letter + text.slice(at + 1));
    }
    if (at < text.length) edits.add(before + text.slice(at + 1));
  }
  edits.delete(text);
  return edits;
}

/** Lowers the JSON body of a target's request, written as plain YAML with `$` nodes, to a typed tree. */
import type { BodyNode, TextNode, ValueTemplate } from '../../../schemas/generated/types.ts';
import type { TextPlace } from '../../config/target-scope.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import type { TargetScope } from './scope.ts';
import { lowerText } from './value-template.ts';

/** `$` nodes that contain a text and a conversion. */
const CASTS: Readonly<Record<string, TextNode['cast']>> = { $int: 'int', $auto: 'auto', $list: 'list' };

interface At {
  readonly at: TextPlace;
  readonly path: NodePath;
}

export function lowerBody(value: unknown, place: At, scope: TargetScope): BodyNode {
  if (typeof value === 'string') return lowerString(value, place, scope);
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return { kind: 'literal', value };
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => lowerBody(item, below(place, index), scope));
    return { kind: 'array', items };
  }
  return lowerObject(Object.entries(value as Record<string, unknown>), place, scope);
}

function lowerString(text: string, place: At, scope: TargetScope): BodyNode {
  const segments = lowerText(text, place, scope);
  const plain = segments.every((segment) => segment.kind === 'text');
  return plain ? { kind: 'literal', value: text } : { kind: 'text', value: segments, cast: 'string' };
}

function lowerObject(entries: readonly (readonly [string, unknown])[], place: At, scope: TargetScope): BodyNode {
  const [first] = entries;
  if (entries.length === 1 && first !== undefined) {
    const [name, value] = first;
    const cast = Object.hasOwn(CASTS, name) ? CASTS[name] : undefined;
    if (cast !== undefined) return { kind: 'text', value: lowerText(String(value), below(place, name), scope), cast };
    if (name === '$json') return { kind: 'json', node: lowerBody(value, below(place, name), scope) };
  }
  const when = entries.find(([name]) => name === '$when');
  const fields = entries
    .filter(([name]) => name !== '$when')
    .map(([name, value]) => {
      if (name.startsWith('$')) {
        const message = `\`${name}\` is not an instruction; the instructions are $int, $auto, $list and $json, each alone in its object, and $when next to fields`;
        scope.report({ rule: 'target-body', path: [...place.path, name], at: 'value', message });
      }
      return { name, node: lowerBody(value, below(place, name), scope) };
    });
  return { kind: 'object', when: when === undefined ? null : lowerWhen(String(when[1]), place, scope), fields };
}

/** Values in `$when` are optional, because it tests whether they are empty. */
function lowerWhen(text: string, place: At, scope: TargetScope): ValueTemplate {
  const segments = lowerText(text, below(place, '$when'), scope);
  return segments.map((segment) => (segment.kind === 'value' ? { ...segment, optional: true } : segment));
}

function below(place: At, key: string | number): At {
  return { at: place.at, path: [...place.path, key] };
}

/** A payload as a tree, whose values can be selected. */
import { useState } from 'preact/hooks';

/** Keys and positions, outermost first. */
export type Path = readonly (string | number)[];

type TreeProps = { value: unknown; path?: Path; pick: (path: Path) => void };

/** Members shown at once; the others on request. */
const SHOWN = 100;
const OPEN_DEPTH = 3;

export function JsonTree({ value, path = [], pick }: TreeProps) {
  const [isOpen, setOpen] = useState(path.length < OPEN_DEPTH);
  const [shown, setShown] = useState(SHOWN);
  const name = path.at(-1) ?? '';
  if (typeof value !== 'object' || value === null) {
    return (
      <>
        <span class="mono">{name}: </span>
        <button type="button" onClick={() => pick(path)}>
          {JSON.stringify(value)}
        </button>
      </>
    );
  }
  const isList = Array.isArray(value);
  const members = Object.entries(value);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="mono">
        {name} <span class="dim">{isList ? `[${members.length}]` : `{${members.length}}`}</span>
      </summary>
      {isOpen && (
        <ul>
          {members.slice(0, shown).map(([key, member]) => (
            <li key={key}>
              <JsonTree value={member} path={[...path, isList ? Number(key) : key]} pick={pick} />
            </li>
          ))}
          {members.length > shown && (
            <li>
              <button type="button" onClick={() => setShown(shown + SHOWN)}>
                {members.length - shown} more…
              </button>
            </li>
          )}
        </ul>
      )}
    </details>
  );
}

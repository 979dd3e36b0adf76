/** A stacked bar chart over time, as SVG, with a text alternative. */
import { instant } from './format.ts';

const WIDTH = 600;
const HEIGHT = 120;

interface Frame {
  /** Unix ms. */
  readonly from: number;
  readonly to: number;
  readonly slot_ms: number;
}

interface Props extends Frame {
  /** The text alternative. */
  readonly title: string;
  /** Figures by name, with the `slot` of each. */
  readonly items: readonly Readonly<Record<string, number>>[];
  /** The label of each part, bottom first. */
  readonly parts: Readonly<Record<string, string>>;
  readonly unit?: (value: number) => string;
}

export function Chart({ title, items, parts, unit = String, from, to, slot_ms }: Props) {
  const names = Object.keys(parts);
  const most = Math.max(1, ...items.map((item) => names.reduce((sum, name) => sum + (item[name] ?? 0), 0)));
  const scale = WIDTH / (to - from);
  // The drawing is stretched to the available width; texts are outside it, so that they are not.
  return (
    <div>
      <span class="dim small">{unit(most)}</span>
      <svg role="img" aria-label={title} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
        {items.map((item) => {
          let y = HEIGHT;
          return names.map((name) => {
            const height = ((item[name] ?? 0) / most) * HEIGHT;
            y -= height;
            const at = { x: ((item.slot ?? 0) - from) * scale, y, height, width: Math.max(1, slot_ms * scale - 1) };
            return <rect key={`${item.slot} ${name}`} class={name} {...at} />;
          });
        })}
      </svg>
      <div class="head dim small">
        <span>{instant(from)}</span>
        <span>{instant(to)}</span>
      </div>
      <ul class="bar small">
        {names.map((name) => (
          <li key={name}>
            <i class={name} /> {parts[name]}
          </li>
        ))}
      </ul>
    </div>
  );
}

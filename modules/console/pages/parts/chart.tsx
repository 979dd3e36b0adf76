/** A chart of figures over time, as SVG: bars whose parts add up. It says in words what it shows. */
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
  /** In words. */
  readonly title: string;
  /** Figures by name, with the `slot` of each. */
  readonly items: readonly Readonly<Record<string, number>>[];
  /** What each part is, from below. */
  readonly parts: Readonly<Record<string, string>>;
  readonly unit?: (value: number) => string;
}

export function Chart({ title, items, parts, unit = String, from, to, slot_ms }: Props) {
  const names = Object.keys(parts);
  const most = Math.max(1, ...items.map((item) => names.reduce((sum, name) => sum + (item[name] ?? 0), 0)));
  const scale = WIDTH / (to - from);
  // Stretched to the width of its place; texts stand beside the drawing, so that they are not.
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
        <span>{instant(from).slice(0, 16)}</span>
        <span>{instant(to).slice(0, 16)}</span>
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

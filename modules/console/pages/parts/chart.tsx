/** Lines over time, with axes, gridlines and the values at the pointer; and the same figures as a table. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { instant } from './format.ts';

const HEIGHT = 150;
const DAY_MS = 86_400_000;
/** Lines differ without their colours, too. */
const DASHES = [[], [6, 3], [2, 3], [10, 3, 2, 3], [12, 4]];

export interface Frame {
  /** Unix ms. */
  readonly from: number;
  readonly to: number;
  readonly slot_ms: number;
}

interface Props extends Frame {
  /** The text alternative. */
  readonly title: string;
  /** Figures by name, with the `slot` of each; null: unknown. A slot without an item is 0. */
  readonly items: readonly Readonly<Record<string, number | null>>[];
  /** The label of each line by name, which is also the class of its colour. */
  readonly lines: Readonly<Record<string, string>>;
  readonly unit?: (value: number) => string;
}

const whole = (value: number): string => value.toLocaleString();

export function Chart({ title, items, lines, unit = whole, from, to, slot_ms }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const names = Object.keys(lines);
  const slots = Array.from({ length: Math.max(1, Math.round((to - from) / slot_ms)) }, (_, at) => from + at * slot_ms);
  const bySlot = new Map(items.map((item) => [item.slot, item]));
  const figureOf = (slot: number, name: string): number | null => {
    const item = bySlot.get(slot);
    return item === undefined ? 0 : (item[name] ?? null);
  };
  const data = [slots.map((slot) => slot / 1000), ...names.map((name) => slots.map((slot) => figureOf(slot, name)))];
  const key = JSON.stringify([data, lines]);
  useEffect(() => {
    const { current: target } = place;
    if (target === null) return;
    const isLong = to - from > 2 * DAY_MS;
    const plot = new uPlot(optionsOf({ target, names, lines, unit, isLong }), data as uPlot.AlignedData, target);
    const sizes = new ResizeObserver(() => plot.setSize({ width: target.clientWidth, height: HEIGHT }));
    sizes.observe(target);
    const theme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = (): void => plot.redraw();
    theme.addEventListener('change', redraw);
    return () => {
      sizes.disconnect();
      theme.removeEventListener('change', redraw);
      plot.destroy();
    };
  }, [key]);
  return (
    <figure>
      <div class="chart" role="img" aria-label={title} ref={place}>
        {[...names, 'dim'].map((name) => (
          <i key={name} class={name} />
        ))}
      </div>
      <details>
        <summary class="dim small">Show as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
        <section class="scroll" aria-label={title} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {['Time', ...Object.values(lines)].map((each) => (
                  <th key={each} scope="col">
                    {each}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {items.map((item) => (
                <tr key={item.slot}>
                  <th scope="row">{instant(item.slot)}</th>
                  {names.map((name) => (
                    <td key={name}>{item[name] == null ? '–' : unit(Number(item[name]))}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  );
}

interface Drawing extends Required<Pick<Props, 'lines' | 'unit'>> {
  readonly target: HTMLElement;
  readonly names: readonly string[];
  readonly isLong: boolean;
}

function optionsOf({ target, names, lines, unit, isLong }: Drawing): uPlot.Options {
  // Colours come from the style sheet, so that they follow the theme.
  const colour = (name: string) => (): string => getComputedStyle(target.querySelector(`i.${name}`) ?? target).color;
  const grid = { stroke: () => `color-mix(in srgb, ${colour('dim')()} 22%, transparent)`, width: 1 };
  const axis = { stroke: colour('dim'), grid, ticks: grid, font: '12px system-ui, sans-serif' };
  const timeOf = (seconds: number): string => {
    const text = instant(seconds * 1000);
    return isLong ? text.slice(5, 10) : text.slice(11, 16);
  };
  return {
    width: Math.max(100, target.clientWidth),
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    cursor: { drag: { x: false, y: false } },
    hooks: { init: [(plot) => drawSamples(plot, names)] },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(1, most) * 1.05] } },
    axes: [
      { ...axis, values: (_plot, splits) => splits.map(timeOf) },
      { ...axis, size: 64, values: (_plot, splits) => splits.map((value) => unit(value)) },
    ],
    series: [
      { label: 'Time', value: (_plot, seconds) => (seconds === null ? '–' : instant(seconds * 1000)) },
      ...names.map((name, at) => ({
        label: lines[name] ?? name,
        stroke: colour(name),
        width: 2,
        dash: DASHES[at % DASHES.length] ?? [],
        points: { show: false },
        value: (_plot: uPlot, value: number | null) => (value === null ? '–' : unit(value)),
      })),
    ],
  };
}

/** Shows in the legend how each line is drawn, because the coloured squares of the library differ only in colour. */
function drawSamples({ root }: uPlot, names: readonly string[]): void {
  for (const [at, row] of [...root.querySelectorAll('.u-series')].slice(1).entries()) {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    svg.setAttribute('class', names[at] ?? '');
    line.setAttribute('d', 'M0 4h28');
    line.setAttribute('stroke', 'currentcolor');
    line.setAttribute('stroke-dasharray', (DASHES[at % DASHES.length] ?? []).join(' '));
    svg.append(line);
    row.querySelector('.u-marker')?.replaceWith(svg);
  }
}

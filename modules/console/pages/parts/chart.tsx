/** Lines over time, with axes, gridlines and the values at the pointer; and the same figures as a table. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { instant } from './format.ts';
import type { Column } from './ui.tsx';
import { Table } from './ui.tsx';

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

type Item = Readonly<Record<string, number | null>>;

interface Props extends Frame {
  readonly title: string;
  /** Figures by line, with the `slot` of each; null: unknown. A slot without an item is 0. */
  readonly items: readonly Item[];
  /** Names of the lines, which are also the classes of their colours. */
  readonly lines: readonly string[];
  readonly unit?: (value: number) => string;
}

const whole = (value: number): string => value.toLocaleString();

export function Chart({ title, items, lines, unit = whole, from, to, slot_ms }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const slots = Array.from({ length: Math.max(1, Math.round((to - from) / slot_ms)) }, (_, at) => from + at * slot_ms);
  const bySlot = new Map(items.map((item) => [item.slot, item]));
  const lineOf = (name: string) => slots.map((slot) => (bySlot.has(slot) ? (bySlot.get(slot)?.[name] ?? null) : 0));
  const data = [slots.map((slot) => slot / 1000), ...lines.map(lineOf)];
  useEffect(() => {
    const { current: target } = place;
    if (target === null) return;
    const options = optionsOf(target, lines, unit, to - from > 2 * DAY_MS);
    const plot = new uPlot(options, data as uPlot.AlignedData, target);
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
  }, [JSON.stringify(data)]);
  const columns = lines.map(
    (name): Column<Item> => [name, ({ [name]: of = null }) => (of === null ? '–' : unit(of)), 'end'],
  );
  return (
    <figure>
      <h3>{title}</h3>
      <div class="chart" role="img" aria-label={title} ref={place}>
        {[...lines, 'dim'].map((name) => (
          <i key={name} class={name} />
        ))}
      </div>
      <details>
        <summary class="dim small">Show as a table</summary>
        <Table
          label={title}
          items={items}
          keyOf={({ slot }) => slot ?? 0}
          empty=""
          columns={[['Time', ({ slot }) => instant(slot)], ...columns]}
        />
      </details>
    </figure>
  );
}

type Unit = NonNullable<Props['unit']>;

function optionsOf(target: HTMLElement, lines: readonly string[], unit: Unit, isLong: boolean): uPlot.Options {
  // Colours come from the style sheet, so that they follow the theme.
  const colour = (name: string) => () => getComputedStyle(target.querySelector(`i.${name}`) ?? target).color;
  const grid = { stroke: () => `color-mix(in srgb, ${colour('dim')()} 22%, transparent)`, width: 1 };
  const axis = { stroke: colour('dim'), grid, ticks: grid, font: '12px system-ui, sans-serif' };
  const timeOf = (seconds: number): string => instant(seconds * 1000).slice(...(isLong ? [5, 10] : [11, 16]));
  const seriesOf = (label: string, at: number): uPlot.Series => ({
    label,
    stroke: colour(label),
    width: 2,
    dash: DASHES[at] ?? [],
    points: { show: false },
    value: (_plot, value) => (value === null ? '' : unit(value)),
  });
  return {
    width: Math.max(100, target.clientWidth),
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    cursor: { drag: { x: false, y: false } },
    hooks: { init: [({ root }) => drawSamples(root, lines)] },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(1, most) * 1.05] } },
    axes: [
      { ...axis, values: (_plot, splits) => splits.map(timeOf) },
      { ...axis, size: 64, values: (_plot, splits) => splits.map(unit) },
    ],
    series: [{ label: '', value: (_plot, at) => (at === null ? '' : instant(at * 1000)) }, ...lines.map(seriesOf)],
  };
}

/** Shows in the legend how each line is drawn, because the coloured squares of the library differ only in colour. */
function drawSamples(root: HTMLElement, lines: readonly string[]): void {
  for (const [at, marker] of [...root.querySelectorAll('.u-series:not(:first-child) .u-marker')].entries()) {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    svg.setAttribute('class', lines[at] ?? '');
    line.setAttribute('d', 'M0 4h28');
    line.setAttribute('stroke', 'currentcolor');
    line.setAttribute('stroke-dasharray', (DASHES[at] ?? []).join(' '));
    svg.append(line);
    marker.replaceWith(svg);
  }
}

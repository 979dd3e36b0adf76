/** Lines over time, with axes, gridlines and the values at the pointer; and the same figures as a table. */
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
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
  /** Figures by line, with the `slot` of each; null: unknown. A slot without an item is 0, or unknown with `tens`. */
  readonly items: readonly Item[];
  /** Names of the lines, which are also the classes of their colours. */
  readonly lines: readonly string[];
  readonly unit?: (value: number) => string;
  /** The axis grows by powers of ten, so that one high value does not flatten the others. */
  readonly tens?: boolean;
}

const whole = (value: number): string => value.toLocaleString();

export function Chart({ title, items, lines, unit = whole, tens = false, from, to, slot_ms }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const slots = Array.from({ length: Math.max(1, Math.round((to - from) / slot_ms)) }, (_, at) => from + at * slot_ms);
  const bySlot = new Map(items.map((item) => [item.slot, item]));
  const lineOf = (name: string) =>
    slots.map((slot) => (bySlot.has(slot) ? (bySlot.get(slot)?.[name] ?? null) : tens ? null : 0));
  const data = [slots.map((slot) => slot / 1000), ...lines.map(lineOf)];
  useEffect(() => {
    // The library starts with the first chart, because its start takes as long as a first page.
    const drawing = import('uplot').then(({ default: Plot }) => {
      const { current: target } = place;
      if (target === null) return null;
      const tzDate = (seconds: number): Date => Plot.tzDate(new Date(seconds * 1000), 'Etc/UTC');
      const options = { ...optionsOf(target, lines, unit, [to - from > 2 * DAY_MS, tens]), tzDate };
      const plot = new Plot(options, data as uPlot.AlignedData, target);
      const sizes = new ResizeObserver(() => plot.setSize({ width: target.clientWidth, height: HEIGHT }));
      sizes.observe(target);
      const theme = matchMedia('(prefers-color-scheme: dark)');
      theme.onchange = () => plot.redraw();
      return () => {
        sizes.disconnect();
        theme.onchange = null;
        plot.destroy();
      };
    });
    return () => void drawing.then((end) => end?.());
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

/** Marks begin at the lower end, so it has one digit. */
const TENS: uPlot.Scale.Range = (_plot, least, most) => [
  Number(((least || 1000) * 0.7).toExponential(0)),
  (most || 1000) * 1.5,
];
const FROM_ZERO: uPlot.Scale.Range = (_plot, _least, most) => [0, Math.max(4, most) * 1.05];
/** 1, 2, 5, 10 and so on; only powers of ten if there are many of them. */
const onlyRound: uPlot.Axis.Filter = ({ scales: { y } }, splits) => {
  const digits = (y?.max ?? 1) / (y?.min ?? 1) > 200 ? [1] : [1, 2, 5];
  return splits.map((each) => (digits.includes(Number(each.toExponential(0).charAt(0))) ? each : null));
};

type Axes = readonly [isLong: boolean, tens: boolean];

function optionsOf(target: HTMLElement, lines: readonly string[], unit: Unit, [isLong, tens]: Axes): uPlot.Options {
  // Colours come from the style sheet, so that they follow the theme.
  const colour = (name: string) => () => getComputedStyle(target.querySelector(`i.${name}`) ?? target).color;
  const grid = { stroke: () => `color-mix(in srgb, ${colour('dim')()} 22%, transparent)`, width: 1 };
  const axis = { stroke: colour('dim'), grid, ticks: grid, font: '12px system-ui, sans-serif' };
  const timeOf = (seconds: number): string => instant(seconds * 1000).slice(...(isLong ? [5, 10] : [11, 16]));
  const ROUND = { filter: onlyRound, grid: { ...grid, filter: onlyRound }, ticks: { ...grid, filter: onlyRound } };
  const textOf = (value: number | null): string => (value === null ? '' : unit(value));
  const seriesOf = (label: string, at: number): uPlot.Series => ({
    label,
    stroke: colour(label),
    width: 2,
    dash: DASHES[at] ?? [],
    spanGaps: true,
    points: { show: false },
    value: (_plot, value) => textOf(value),
  });
  return {
    width: Math.max(100, target.clientWidth),
    height: HEIGHT,
    cursor: { drag: { x: false, y: false } },
    hooks: { init: [({ root }) => drawSamples(root, lines)] },
    scales: { y: tens ? { distr: 3, range: TENS } : { range: FROM_ZERO } },
    axes: [
      { ...axis, size: 30, values: (_plot, splits) => splits.map(timeOf) },
      { ...axis, ...(tens ? ROUND : {}), size: 64, space: 24, values: (_plot, splits) => splits.map(textOf) },
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

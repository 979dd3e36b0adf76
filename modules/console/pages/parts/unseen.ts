/**
 * Shows invisible and reordering characters by their code points, as the command line does, because views show text of strangers.
 * It applies to every element that is created, so that no view can forget it.
 */
import type { VNode } from 'preact';
import { Fragment, options } from 'preact';
import { escapeInvisibleInLines } from '../../../../base/text.ts';

interface Props {
  children?: unknown;
  [name: string]: unknown;
}

/** Attributes that people read. */
const READ = ['title', 'aria-label', 'placeholder'];

const before = options.vnode;
options.vnode = (vnode: VNode) => {
  const props = vnode.props as Props;
  if (typeof vnode.type === 'string' || vnode.type === Fragment) {
    if (props.children !== undefined) props.children = shown(props.children);
    for (const name of READ) if (typeof props[name] === 'string') props[name] = escapeInvisibleInLines(props[name]);
  }
  before?.(vnode);
};

function shown(child: unknown): unknown {
  if (typeof child === 'string') return escapeInvisibleInLines(child);
  return Array.isArray(child) ? child.map(shown) : child;
}

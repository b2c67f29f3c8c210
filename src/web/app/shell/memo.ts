import { h } from 'preact';
import type { FunctionComponent, VNode } from 'preact';
import { useRef } from 'preact/hooks';

/**
 * Draws a component anew only where its properties changed, as far as `isSame` tells. It is `memo` of preact/compat
 * without the rest of that module, which looks at every element of a page that is made.
 */
export function memo<Props extends object>(
  draw: FunctionComponent<Props>,
  isSame: (before: Props, after: Props) => boolean = hasSameValues,
): FunctionComponent<Props> {
  return function Memo(props) {
    const last = useRef<{ readonly props: Props; readonly node: VNode<Props> } | undefined>(undefined);
    // The same node again is what tells Preact that nothing below it changed.
    if (last.current === undefined || !isSame(last.current.props, props)) {
      last.current = { props, node: h(draw, props) };
    }
    return last.current.node;
  };
}

function hasSameValues<Props extends object>(before: Props, after: Props): boolean {
  const names = Object.keys(after) as (keyof Props)[];
  return names.length === Object.keys(before).length && names.every((name) => before[name] === after[name]);
}

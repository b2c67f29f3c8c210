import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { CopyButton } from '../ui/copy-button.js';
import { decodeText } from './open-value.js';

/** Long enough to use the value, short enough for an unattended screen. */
const SHOWN_MS = 60_000;

interface OpenedValueProps {
  readonly slug: string;
  readonly value: Uint8Array<ArrayBuffer>;
  readonly onHide: () => void;
}

/**
 * A decrypted value, hidden again after a minute. The group around it takes the focus, so that screen readers don't
 * read the value aloud at once.
 */
export function RevealedValue({ slug, value, onHide }: OpenedValueProps) {
  const group = useRef<HTMLDivElement>(null);
  const text = useMemo(() => decodeText(value), [value]);
  useLayoutEffect(() => group.current?.focus(), [value]);
  useEffect(() => {
    const timer = setTimeout(onHide, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return (
    <div ref={group} class="once" role="group" tabIndex={-1} aria-label={`Value of ${slug}`}>
      {text === undefined ? <p>Binary value of {value.length} bytes.</p> : <Text text={text} />}
      <div class="row wrapping">
        {text === undefined ? <Download slug={slug} value={value} /> : <CopyButton value={text} what="the value" />}
        <button type="button" onClick={onHide}>
          Hide
        </button>
      </div>
      <p class="quiet">Decrypted in this browser. It will be hidden after one minute.</p>
    </div>
  );
}

function Text({ text }: { readonly text: string }) {
  if (text === '') return <p>The value is empty.</p>;
  return (
    <pre class="value" tabIndex={0}>
      {text}
    </pre>
  );
}

function Download({ slug, value }: Pick<OpenedValueProps, 'slug' | 'value'>) {
  const url = useMemo(() => URL.createObjectURL(new Blob([value])), [value]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return (
    <a class="button" href={url} download={slug}>
      Save as file
    </a>
  );
}

import { TableHead } from '../shell/table-head.js';
import type { Candidate } from './candidates.js';
import { useBytes } from './use-bytes.js';

interface CandidatesProps {
  readonly candidates: readonly Candidate[];
  /** The `src` of the image that is shown. */
  readonly shown: string;
  /** Called with the descriptor of the chosen image. */
  readonly onChoose: (descriptor: string) => void;
}

/** A table of all derived images with their size in bytes. The user selects the one that is shown. */
export function Candidates({ candidates, shown, onChoose }: CandidatesProps) {
  const bytes = useBytes(candidates.map(({ src }) => src));
  return (
    <table class="candidates" aria-label="Derived images">
      <TableHead names={['Image', 'Bytes', 'Link']} />
      <tbody>
        {candidates.map(({ src, descriptor }) => (
          <tr key={src}>
            <td>
              <label class="choice">
                <input type="radio" name="shown" checked={src === shown} onChange={() => onChoose(descriptor)} />
                {toName(descriptor)}
              </label>
            </td>
            <td>{toBytes(bytes.get(src))}</td>
            <td>{src.startsWith('data:') ? 'inline' : <a href={src}>Open</a>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function toName(descriptor: string): string {
  if (descriptor === '') return 'The image';
  const number = descriptor.slice(0, -1);
  return descriptor.endsWith('w') ? `${number} pixels wide` : `For ${number}× screens`;
}

function toBytes(size: number | null | undefined): string {
  if (size === undefined) return '…';
  return size === null ? 'failed' : size.toLocaleString();
}

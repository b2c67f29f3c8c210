import { findRequestId } from '../api.js';
import { CopyButton } from './buttons.js';

/** An error message, with a button that copies the id of the request for a report to the admin. */
export function ProblemText({ text }: { readonly text: string }) {
  const id = findRequestId(text);
  return (
    <>
      {text}
      {id !== undefined && (
        <>
          {' '}
          <CopyButton value={id} what="the request ID" />
        </>
      )}
    </>
  );
}

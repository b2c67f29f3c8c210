import { Heading } from './heading.js';

export function NotFound() {
  return (
    <>
      <Heading>Nothing here</Heading>
      <p>
        There is no page at this address. <a href="/">Back to the start</a>
      </p>
    </>
  );
}

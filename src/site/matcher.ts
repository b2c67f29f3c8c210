/**
 * Tests a text against a caller's pattern in time that is linear in the text.
 *
 * @param check Called regularly in a long text; an error that it throws ends the test.
 */
export type Matcher = (text: string, check?: () => void) => boolean;

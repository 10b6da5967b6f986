// Pictures as characters. A half block has two dots, one above the other, in two colours.
#include "tools/picture.h"

#include <stdio.h>
#include <string.h>

enum { LABEL_COLUMNS = 10 };

static int luminance(const uint8_t *rgb) {
  return (299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2]) / 1000;
}

// The nearest of the 6 × 6 × 6 colours and the 24 greys that terminals of 256 colours have.
static int number_of(const uint8_t *rgb) {
  int spread = 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      if (rgb[i] - rgb[k] > spread) spread = rgb[i] - rgb[k];
  if (spread < 12) {
    int grey = (luminance(rgb) - 3) / 10;
    return 232 + (grey < 0 ? 0 : grey > 23 ? 23 : grey);
  }
  int steps[3];
  for (int i = 0; i < 3; i++) steps[i] = rgb[i] < 48 ? 0 : rgb[i] < 115 ? 1 : (rgb[i] - 35) / 40;
  return 16 + 36 * steps[0] + 6 * steps[1] + steps[2];
}

static void set_colour(int ground, const uint8_t *rgb, picture_colours colours) {
  if (colours == PICTURE_24_BIT)
    printf("\033[%d;2;%d;%d;%dm", ground, rgb[0], rgb[1], rgb[2]);
  else
    printf("\033[%d;5;%dm", ground, number_of(rgb));
}

// `below` NULL: there is no dot. A colour that is set already is not set again.
static void print_blocks(const picture *p, int y, picture_colours colours) {
  enum { FOREGROUND = 38, BACKGROUND = 48 };
  const uint8_t *above = p->rgb + 3 * y * p->width;
  const uint8_t *below = y + 1 < p->height ? above + 3 * p->width : NULL;
  for (int x = 0; x < p->width; x++) {
    const uint8_t *dot = above + 3 * x;
    if (!x || memcmp(dot, dot - 3, 3)) set_colour(FOREGROUND, dot, colours);
    if (below && (!x || memcmp(below + 3 * x, below + 3 * (x - 1), 3)))
      set_colour(BACKGROUND, below + 3 * x, colours);
    fputs("▀", stdout);
  }
  fputs("\033[0m\n", stdout);
}

static void print_characters(const picture *p, int y) {
  static const char ramp[] = " .:-=+*#%@";
  const uint8_t *row = p->rgb + 3 * y * p->width;
  for (int x = 0; x < p->width; x++) {
    char character = ramp[luminance(row + 3 * x) * ((int)sizeof ramp - 2) / 255];
    printf("%c%c", character, character);
  }
  putchar('\n');
}

// A line needs no colours, but the numbers that its highest and its lowest dots stand for.
static void print_line(const picture *p, int y, bool plain) {
  static const char *const blocks[] = {" ", "▄", "▀", "█"}, *const characters[] = {" ", ".", "'",
                                                                                   "|"};
  bool first = y == 0, last = y + 2 >= p->height;
  if (first || last)
    printf("%*.4g ", LABEL_COLUMNS, first ? p->high : p->low);
  else
    printf("%*s ", LABEL_COLUMNS, "");
  for (int x = 0; x < p->width; x++) {
    bool above = p->rgb[3 * (y * p->width + x)];
    bool below = y + 1 < p->height && p->rgb[3 * ((y + 1) * p->width + x)];
    fputs((plain ? characters : blocks)[2 * above + below], stdout);
  }
  putchar('\n');
}

void picture_print(const picture *p, picture_colours colours) {
  int rows = p->line || colours != PICTURE_PLAIN ? 2 : 1; // a line of text
  for (int y = 0; y < p->height; y += rows)
    if (p->line)
      print_line(p, y, colours == PICTURE_PLAIN);
    else if (colours == PICTURE_PLAIN)
      print_characters(p, y);
    else
      print_blocks(p, y, colours);
  if (!p->line) printf("from %.4g to %.4g\n", p->low, p->high);
}

import pytest

from comotion.coordinates.layout import Layout


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize("has_velocity", [True, False])
@pytest.mark.parametrize("extra", [0, 4])
def test_position_velocity_and_extra_tile_the_state_in_this_order(spatial, has_velocity, extra):
    layout = Layout(spatial, has_velocity, extra)
    entries = list(range(layout.state))
    position, velocity = entries[layout.position], entries[layout.velocity]
    rest = entries[layout.velocity.stop :]
    assert position + velocity + rest == entries
    assert len(position) == spatial
    assert len(velocity) == (spatial if has_velocity else 0)
    assert len(rest) == extra


def test_blocks_leave_out_what_is_empty():
    assert Layout(2).blocks == (2, 2)
    assert Layout(3, has_velocity=False).blocks == (3,)
    assert Layout(2, extra=4).blocks == (2, 2, 4)
    assert Layout(1, has_velocity=False, extra=2).blocks == (1, 2)


def test_properties_and_controls_are_no_part_of_the_state():
    assert Layout(2, properties=3, controls=2).state == 4


def test_a_picture_shows_everything_but_velocities():
    assert Layout(2, hidden=True).shown == (0, 1)
    assert Layout(2, has_velocity=False, hidden=True).shown == (0, 1)
    assert Layout(2, extra=2, hidden=True).shown == (0, 1, 4, 5)
